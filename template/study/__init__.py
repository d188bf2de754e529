"""The paper of this chapter, file by file.

``settings`` (sizes, and what data they take) and ``evidence`` (the one experiment); then
``overfitting`` makes tables of it, ``exhibits.toml`` declares what they show, and ``claims`` tests
what the paper says.
"""
