# The two commands of the README in a container, which writes as you:
#   mkdir -p _build
#   docker build --build-arg UID="$(id -u)" --tag membership .
#   docker run --rm --volume "$PWD/_build:/membership/_build" membership        # make book
#   docker run --rm membership test                                             # make test
FROM python:3.11-slim-bookworm

# chromium: the tests of the site; git: results name the commit they come from.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium git make \
    && rm -rf /var/lib/apt/lists/*

# Nothing needs root from here on; whatever is built, run and kept is in folders of this user's.
ARG UID=1000
RUN useradd --create-home --non-unique --uid "$UID" reader \
    && install --directory --owner reader /membership /membership/_build /membership/src
USER reader
WORKDIR /membership

# The environment in a layer of its own: it is made anew only when the pins change.
COPY --chown=reader Makefile pyproject.toml requirements.lock ./
COPY --chown=reader src/membership/__init__.py src/membership/
RUN make setup

COPY --chown=reader . .

ENTRYPOINT ["make"]
CMD ["book"]
