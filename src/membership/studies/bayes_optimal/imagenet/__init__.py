"""Table 3: networks trained on half of ImageNet, for who has the images and a GPU.

Not part of the notebook's run. ``python -m membership.studies.bayes_optimal.imagenet --help``
"""
