"""What the shell lets a process take: enough, made enough, or refused before any work."""

import os
import resource

from membership.errors import InputError

FILES = 256
FILES_WANTED = 4096
MEMORY = 2 * 2**30


def require() -> None:
    """Take as many open files as are allowed; refuse limits under which a run cannot start.

    Raises
    ------
    InputError
        Fewer than `FILES` open files, or less than `MEMORY` bytes of address space, which is what
        the libraries take to load.
    """
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if most == resource.RLIM_INFINITY else min(FILES_WANTED, most)
    if files != resource.RLIM_INFINITY and files < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    if 0 <= wanted < FILES:
        raise InputError(
            f"this shell allows {wanted} open files; a run needs at least {FILES} (`ulimit -n`)"
        )
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    if memory != resource.RLIM_INFINITY and memory < MEMORY:
        raise InputError(
            f"this shell allows {memory / 2**30:.2g} GB of memory; a run needs at least "
            f"{MEMORY // 2**30} GB (`ulimit -v`)"
        )


def cores(n_jobs: int = 0) -> int:
    """Cores to use: so many, or for 0 all that the machine and OMP_NUM_THREADS leave a process."""
    import joblib  # .3 s, which the command's other uses need not wait for

    allowed = os.environ.get("OMP_NUM_THREADS", "")
    most = joblib.cpu_count()
    return n_jobs or (min(int(allowed), most) if allowed.isdigit() and int(allowed) else most)
