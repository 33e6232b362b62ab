# abi.awk: a C program that prints what a compiled host relies on of a header: each function
# as it is declared, each constant's value, each struct's size and each field's place. The
# input is the header without comments (cc -fpreprocessed -dD -E -P).
function flat(s) { gsub(/[ \t\n]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }
function quoted(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return s }
function fields(name, body, n, part, k, m, one, id, list) {
    printf "    printf(\"struct %s %%zu\\n\", sizeof(%s));\n", name, name
    n = split(body, part, ";")
    for (k = 1; k <= n; k++) {
        one = flat(part[k])
        if (one == "") continue
        if (one ~ /\(\*/) { # a pointer to a function
            id = one; sub(/^[^(]*\(\*/, "", id); sub(/\).*/, "", id)
            list = id
        } else {
            list = one; sub(/^.*[ *]\**/, "", list)
            if (one ~ /,/) { list = one; sub(/^[a-z_0-9]+ /, "", list) }
        }
        m = split(list, ids, ",")
        for (j = 1; j <= m; j++) {
            id = flat(ids[j]); gsub(/\*/, "", id); sub(/\[.*/, "", id)
            printf "    printf(\"field %s.%s %%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n", \
                name, id, name, id, name, id
        }
    }
}
{ all = all " " $0 }
/^#/ { sub(/#.*$/, "", all) }
END {
    print "#include <stcvm.h>\nint main(void)\n{"
    while (match(all, /STC_API [^;]*;/)) {
        one = flat(substr(all, RSTART + 8, RLENGTH - 9))
        all = substr(all, 1, RSTART - 1) substr(all, RSTART + RLENGTH)
        printf "    puts(\"function %s\");\n", quoted(one)
    }
    while (match(all, /enum [a-z_]*[ ]*\{[^}]*\}/)) {
        one = substr(all, RSTART, RLENGTH)
        all = substr(all, 1, RSTART - 1) substr(all, RSTART + RLENGTH)
        sub(/^[^{]*\{/, "", one); sub(/\}$/, "", one)
        n = split(one, part, ",")
        for (k = 1; k <= n; k++) {
            id = flat(part[k]); sub(/ ?=.*/, "", id)
            if (id != "") printf "    printf(\"constant %s %%d\\n\", (int)%s);\n", id, id
        }
    }
    while (match(all, /typedef (struct|union) [a-z_]+ *\{[^}]*\} *[a-z_]+;/)) {
        one = substr(all, RSTART, RLENGTH)
        all = substr(all, 1, RSTART - 1) substr(all, RSTART + RLENGTH)
        name = one; sub(/^.*\} */, "", name); sub(/;.*/, "", name)
        sub(/^[^{]*\{/, "", one); sub(/\}[^}]*$/, "", one)
        fields(name, one)
    }
    while (match(all, /typedef [^;{}]*;/)) {
        one = flat(substr(all, RSTART, RLENGTH - 1))
        all = substr(all, 1, RSTART - 1) substr(all, RSTART + RLENGTH)
        printf "    puts(\"type %s\");\n", quoted(one)
    }
    print "    return 0;\n}"
}
