"""The papers' architectures as plain ``nn.Module`` factories.

Every network is ``classifier(features(x))``: `features` maps a batch to what the last linear
layer sees, of shape (records, width), and ``model.features(x)`` can be called on its own. Printing
a network shows its whole architecture, layer by layer.
"""

from membership.models.linear import logistic_regression, mlp
from membership.models.resnet import resnet
from membership.models.scaled import scaled_mlp
from membership.models.small_cnn import small_cnn
from membership.models.vgg import vgg16

__all__ = ["logistic_regression", "mlp", "resnet", "scaled_mlp", "small_cnn", "vgg16"]
