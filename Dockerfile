# The two commands of the README in a container:
#   docker build --tag membership .
#   docker run --rm --volume "$PWD/_build:/membership/_build" membership        # make book
#   docker run --rm membership test                                             # make test
FROM python:3.11-slim-bookworm

# chromium: the tests of the site; git: results name the commit they come from.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium git make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /membership

# The environment in a layer of its own: it is made anew only when the pins change.
COPY Makefile pyproject.toml requirements.lock ./
COPY src/membership/__init__.py src/membership/
RUN make setup

COPY . .

ENTRYPOINT ["make"]
CMD ["book"]
