"""Files of scores as people have them: those that are read, all to one audit, and the others.

The command and the page in the browser are held to the same two tables.
"""

import gzip

ROWS = [(round(0.37 * (i * 7 % 40) - 4 + i % 2, 3), i % 2) for i in range(40)]
PLAIN = "score,member\n" + "".join(f"{score},{member}\n" for score, member in ROWS)


def table(cell=str, truth=str, row="{},{}\n", head="score,member\n") -> str:
    return head + "".join(row.format(cell(score), truth(member)) for score, member in ROWS)


def comma(score: float) -> str:
    return str(score).replace(".", ",")


def written(truth: str) -> str:
    return table(truth=dict(enumerate(truth.split())).get)


READ = {
    "scores.csv": PLAIN,
    "semicolon.csv": PLAIN.replace(",", ";"),
    "tab.tsv": PLAIN.replace(",", "\t"),
    "bars.txt": PLAIN.replace(",", "|"),
    "capitals.csv": PLAIN.replace("score,member", "Score,MEMBER"),
    "blanks.csv": PLAIN.replace(",", " , "),
    "quoted.csv": table(row='"{}","{}"\n', head='"score","member"\n'),
    "packed.csv.gz": gzip.compress(PLAIN.encode()),
    "mark.csv": b"\xef\xbb\xbf" + PLAIN.encode(),
    "excel.txt": PLAIN.replace(",", "\t").replace("\n", "\r\n").encode("utf-16"),
    "big_endian.csv": b"\xfe\xff" + PLAIN.encode("utf-16-be"),
    "old_mac.csv": PLAIN.replace("\n", "\r"),
    "no_last_line_end.csv": PLAIN.rstrip("\n"),
    "blank_lines.csv": "\n" + PLAIN.replace("\n", "\n\n") + " \n,\n",
    "separator_behind.csv": PLAIN.replace("\n", ",\n"),
    "decimal_comma.csv": table(comma, row="{};{}\n", head="score;member\n"),
    "decimal_comma.tsv": table(comma, row="{}\t{},0\n", head="score\tmember\n"),
    "quoted_decimal.csv": table(comma, row='"{}";"{}"\n', head="score;member\n"),
    "scientific.csv": table("{:.6E}".format, "{:.18e}".format),
    "plus.csv": table("{:+}".format),
    "words.csv": written("FALSE True"),
    "answers.csv": written("no Yes"),
    "further.csv": table(row="x,{},{},0.5\n", head="id,score,member,loss\n"),
    "index.csv": table(row="7,{},{}\n", head=",score,member\n"),
    "own_name.csv": PLAIN.replace("score", "Loss"),
    "one_target.csv": table(row="m1,{},{}\n", head="target,score,member\n"),
    "broken_cell.csv": table(row='"a\n""b"", c",{},{}\n', head="note,score,member\n"),
}
ROW = "0.5,1\n"
REFUSED = {
    "empty.csv": ("", "is empty"),
    "header_only.csv": ("score,member\n", "holds a line of column names and no records"),
    "no_header.csv": (PLAIN.split("\n", 1)[1], "lacks score, member; its columns are '-4.0, 0'"),
    "other_name.csv": ("score,truth\n1,0\n", "lacks member; its columns are 'score, truth'"),
    "own_words.csv": (
        PLAIN.replace("score", "loss") + "high,1\n",
        "line 42: loss is 'high'; give a finite number; where the column is no score, `--attack",
    ),
    "no_scores.csv": ("member,record\n1,a\n0,b\n", "lacks score; its columns are 'member, record'"),
    "numbered.csv": (
        table(row="7,{},{}\n", head="id,loss,member\n"),
        "column 'id' is no attack by its name; leave it out, or name the columns that are scores",
    ),
    "labelled.csv": (
        table(row="7,{},{}\n", head="True Label,loss,member\n"),
        "column 'True Label' is no attack by its name",
    ),
    "number_alone.csv": (
        PLAIN.replace("score", "userId"),
        "column 'userId' is no attack by its name",
    ),
    "both_other.csv": ("score,member,x,X\n1,0,2,3\n", "columns 'x' and 'X' are both x"),
    "comment.csv": (
        "# of run 3\n" + PLAIN,
        "line 2: 2 cells; its first line names 1: '# of run 3'",
    ),
    "twice.csv": ("score,member,score\n1,0,2\n", "2 columns are named 'score'; name each"),
    "both.csv": ("score,member,Score\n1,0,2\n", "columns 'score' and 'Score' are both score"),
    "nameless.csv": ("score,member,,\n1,0,2,3\n", "2 columns have no name"),
    "one_more.csv": (
        PLAIN + "1,1,0\n",
        "line 42: 3 cells; its first line names 2: 'score, member'",
    ),
    "all_more.csv": ("score,member\n1,1,0\n0,0,1\n", "line 2: 3 cells; its first line names 2"),
    "one_less.csv": (PLAIN + "1\n", "line 42: 1 cells; its first line names 2: 'score, member'"),
    "separator_in_rows.csv": ("score,member\n1,1,\n", "line 2: 3 cells"),
    "mixed_separators.csv": (PLAIN + "1;1\n", "line 42: 1 cells"),
    "not_a_number.csv": (PLAIN + "nan,1\n", "line 42: score is 'nan'; give a finite number"),
    "empty_cell.csv": (PLAIN + ",1\n", "line 42: score is ''; give a finite number"),
    "infinite.csv": (PLAIN + "-inf,1\n", "line 42: score is '-inf'; give a finite number"),
    "too_large.csv": (PLAIN + "1e999,1\n", "line 42: score is '1e999'; give a finite number"),
    "hexadecimal.csv": (PLAIN + "0x1p3,1\n", "line 42: score is '0x1p3'"),
    "fortran.csv": (PLAIN + "1.0D+00,1\n", "line 42: score is '1.0D+00'"),
    "underscore.csv": (PLAIN + "1_000,1\n", "line 42: score is '1_000'"),
    "per_cent.csv": (PLAIN + "50%,1\n", "line 42: score is '50%'; give a finite number"),
    "thousands.csv": (PLAIN + '"1,000",1\n', "line 42: score is '1,000'; give a finite"),
    "thousands_or_decimals.csv": (
        "score;member\n1,500;1\n",
        "line 2: score is '1,500'; give",
    ),
    "points_and_commas.csv": (
        "score;member\n0.5;1\n0,5;0\n",
        "line 3: score is '0,5'; give",
    ),
    "grouped.csv": ("score;member\n1.234,5;1\n", "line 2: score is '1.234,5'; give a finite"),
    "date.csv": (PLAIN + "2024-01-03,1\n", "line 42: score is '2024-01-03'; give a finite number"),
    "unit.csv": (PLAIN + "3 nats,1\n", "line 42: score is '3 nats'; give a finite number"),
    "sum_below.csv": (PLAIN + "Mean,0.5\n", "line 42: score is 'Mean'"),
    "twice_over.csv": (PLAIN + PLAIN, "line 42: score is 'score'; give a finite number"),
    "maybe.csv": (PLAIN + "1,maybe\n", "line 42: member is 'maybe'; give 0 or 1, false or true"),
    "two.csv": (PLAIN + "1,2\n", "line 42: member is '2'"),
    "minus.csv": (PLAIN + "1,-1\n", "line 42: member is '-1'"),
    "below_blank_lines.csv": ("score,member\n\n0.5,1\n\n\nx,1\n", "line 6: score is 'x'"),
    "below_a_break.csv": ('score,member,id\n1,1,"a\nb"\nx,1,c\n', "line 4: score is 'x'"),
    "open_quote.csv": (PLAIN + '"1,1\n', "line 42: unexpected end of data"),
    "after_a_quote.csv": (PLAIN + '"1"2,1\n', """line 42: ',' expected after '"'"""),
    "long_cell.csv": (PLAIN + "1" * 131073 + ",1\n", "line 42: field larger than field limit"),
    "latin.csv": ("score,member,group\n1,1,a\n1,0,é\n".encode("latin-1"), "line 3: no UTF-8 text"),
    "bytes.csv": (b"PK\x03\x04\x14\0\0\0", "is no text"),
    "wide.csv": (PLAIN.encode("utf-16-le"), "is no text"),
    "cut.csv.gz": (gzip.compress(PLAIN.encode())[:-20], "damaged gzip"),
    "very_few.csv": (
        "score,member\n" + "1,1\n2,0\n" * 5,
        "score: 10 records; an audit needs at least",
    ),
    "few_members.csv": (
        "score,member\n" + "1,1\n" * 3 + "2,0\n" * 20,
        "member: 3 members and 20 non-members; give at least 4 of each",
    ),
    "few.csv": ("score,member\n" + ROW * 3, "members only"),
    "members.csv": ("score,member\n" + "1,1\n" * 30, "members only"),
    "tied.csv": ("score,member\n" + "1,1\n" * 20 + "1,0\n" * 20, "nothing to rank"),
}

# What the command compares and the page says that it does not.
COMPARED = {
    "attacks.csv": (
        table(row="{0},{1},{0}\n", head="loss,member,lira\n"),
        "holds several attacks, 'loss, lira': choose one here, or compare them by the command",
    ),
    "targets.csv": (
        table(head="score,member,target,record\n", row="{0},{1},m{1},{0}\n"),
        "holds several target models, which the command tells apart and this page does not",
    ),
}


def content(given: str | bytes) -> bytes:
    return given if isinstance(given, bytes) else given.encode()
