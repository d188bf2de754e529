from membership.pipeline import styles

USED = styles.words('<p class="card btn-primary">text</p> e.classList.add("open")')


def test_rules_for_classes_of_no_page_are_left_out():
    sheet = "a{x:1}.card{x:2}.modal{x:3}.card .modal{x:4}.open>.card:hover{x:5}p.card{x:6}"
    assert styles.used_only(sheet, USED) == "a{x:1}.card{x:2}.open>.card:hover{x:5}p.card{x:6}"


def test_of_a_list_of_selectors_those_that_may_occur_stay():
    assert styles.used_only(".modal,.card,.toast b{x:1}", USED) == ".card{x:1}"
    assert styles.used_only(".modal,.toast{x:1}", USED) == ""


def test_conditions_stay_around_what_is_left_and_go_with_the_last_rule():
    sheet = "@media print{.card{x:1}.modal{x:2}}@media screen{.modal{x:3}}b{x:4}"
    assert styles.used_only(sheet, USED) == "@media print{.card{x:1}}b{x:4}"


def test_what_cannot_be_told_stays():
    for rule in (
        ".card:not(.modal){x:1}",
        ":is(.modal,.card){x:1}",
        "@font-face{src:url(a.woff)}",
        "@keyframes turn{0%{x:1}to{x:2}}",
        ".bs-tooltip-top{x:1}",
        ":root{--x:1}",
        'a[href$=".pdf"]{x:1}',
        ".sd-w-1\\/2{x:1}",
    ):
        assert styles.used_only(rule, USED) == rule
