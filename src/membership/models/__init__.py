"""The papers' architectures as plain ``nn.Module`` factories.

Every network is ``classifier(features(x))``: `features` maps a batch to what the last linear
layer sees, of shape (records, width), and ``model.features(x)`` can be called on its own. Printing
a network shows its whole architecture, layer by layer.
"""

from membership.models.cnn import densenet121, small_cnn, vgg16
from membership.models.mlp import logistic_regression, mlp, scaled_mlp
from membership.models.residual import efficientnet_b0, mobilenet_v2, resnet, wide_resnet50

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
