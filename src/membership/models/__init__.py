"""The papers' architectures as plain ``nn.Module`` factories.

Every network is ``classifier(features(x))``: `features` maps a batch to what the last linear
layer sees, of shape (records, width), and ``model.features(x)`` can be called on its own. Printing
a network shows its whole architecture, layer by layer.
"""

from membership.models.densenet import densenet121
from membership.models.efficientnet import efficientnet_b0
from membership.models.linear import logistic_regression, mlp
from membership.models.mobilenet import mobilenet_v2
from membership.models.resnet import resnet
from membership.models.scaled import scaled_mlp
from membership.models.small_cnn import small_cnn
from membership.models.vgg import vgg16
from membership.models.wide_resnet import wide_resnet50

__all__ = [
    "densenet121",
    "efficientnet_b0",
    "logistic_regression",
    "mlp",
    "mobilenet_v2",
    "resnet",
    "scaled_mlp",
    "small_cnn",
    "vgg16",
    "wide_resnet50",
]
