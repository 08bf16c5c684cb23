/* daedalus completion: scripts for shells, made from the tables that parse the command line. */
#include "cli.h"

#include <string.h>

static void put_names(cli_name_fn *name)
{
    for (int i = 0; name(i); i++) printf(" %s", name(i));
}

/* The words that can stand where `values` says, separated by blanks. */
static void put_values(const char *values)
{
    if (!strcmp(values, "problems") || !strcmp(values, "names")) put_names(cli_problem_name);
    if (!strcmp(values, "solvers")) printf(" auto");
    if (!strcmp(values, "solvers") || !strcmp(values, "names")) put_names(cli_solver_name);
    if (!strcmp(values, "formulations")) printf(" auto");
    if (!strcmp(values, "formulations") || !strcmp(values, "names")) put_names(cli_formulation_name);
    for (int i = 0; !strcmp(values, "commands") && cli_command_at(i); i++)
        printf(" %s", cli_command_at(i)->name);
    if (!strchr(values, '|')) return;
    for (const char *c = values; *c;) {
        size_t n = strcspn(c, "|");
        printf(" %.*s", (int)n, c);
        c += n + (c[n] == '|');
    }
}

static void put_options(const cli_command *c)
{
    for (const cli_option *o = c->options; o && o->name; o++) printf(" --%s", o->name);
    printf(" --help");
}

static void bash(void)
{
    printf(
        "# daedalus: completion for bash.  source <(daedalus completion bash)\n"
        "_daedalus() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\"\"\n"
        "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"");
    put_values("commands");
    printf(" --help --version\"\n    else\n        case \"${COMP_WORDS[1]} $prev\" in\n");
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *c = cli_command_at(i);
        for (const cli_option *o = c->options; o && o->name; o++) {
            if (!o->value) continue;
            printf("        \"%s --%s\") ", c->name, o->name);
            if (!o->values || !strcmp(o->values, "file")) {
                printf("%s;;\n", o->values ? "COMPREPLY=($(compgen -f -- \"$cur\")); return " : "return ");
                continue;
            }
            printf("words=\"");
            put_values(o->values);
            printf("\" ;;\n");
        }
    }
    printf("        *) case \"${COMP_WORDS[1]}\" in\n");
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *c = cli_command_at(i);
        printf("            %s) words=\"", c->name);
        if (c->values) put_values(c->values);
        put_options(c);
        printf("\" ;;\n");
    }
    printf(
        "            esac ;;\n        esac\n    fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
        "complete -F _daedalus daedalus\n");
}

static void zsh(void)
{
    printf("#compdef daedalus\n# daedalus: completion for zsh.  source <(daedalus completion zsh)\n"
           "_daedalus() {\n  local prev=${words[CURRENT-1]}\n  if (( CURRENT == 2 )); then\n    compadd --");
    put_values("commands");
    printf("\n    return\n  fi\n  case \"${words[2]} $prev\" in\n");
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *c = cli_command_at(i);
        for (const cli_option *o = c->options; o && o->name; o++) {
            if (!o->value) continue;
            printf("    '%s --%s') ", c->name, o->name);
            if (!o->values) {
                printf("return ;;\n");
            } else if (!strcmp(o->values, "file")) {
                printf("_files; return ;;\n");
            } else {
                printf("compadd --");
                put_values(o->values);
                printf("; return ;;\n");
            }
        }
    }
    printf("  esac\n  case \"${words[2]}\" in\n");
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *c = cli_command_at(i);
        printf("    %s) compadd --", c->name);
        if (c->values) put_values(c->values);
        put_options(c);
        printf(" ;;\n");
    }
    printf("  esac\n}\ncompdef _daedalus daedalus\n");
}

/* In single quotes for fish. */
static void fish_quoted(const char *s)
{
    putchar('\'');
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\') putchar('\\');
        putchar(*s);
    }
    putchar('\'');
}

static void fish(void)
{
    printf("# daedalus: completion for fish.  daedalus completion fish | source\ncomplete -c daedalus -f\n");
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *c = cli_command_at(i);
        printf("complete -c daedalus -n __fish_use_subcommand -a %s -d ", c->name);
        fish_quoted(c->summary);
        if (c->values) {
            printf("\ncomplete -c daedalus -n '__fish_seen_subcommand_from %s' -a '", c->name);
            put_values(c->values);
            printf("'");
        }
        putchar('\n');
        for (const cli_option *o = c->options; o && o->name; o++) {
            printf("complete -c daedalus -n '__fish_seen_subcommand_from %s' -l %s%s", c->name, o->name,
                   o->value ? " -r" : "");
            if (o->values && !strcmp(o->values, "file")) {
                printf(" -F");
            } else if (o->values) {
                printf(" -a '");
                put_values(o->values);
                printf("'");
            }
            printf(" -d ");
            fish_quoted(o->help);
            putchar('\n');
        }
    }
}

static int run(cli_args *args)
{
    const char *shell = args->argument[0];
    if (!strcmp(shell, "bash")) bash();
    else if (!strcmp(shell, "zsh")) zsh();
    else if (!strcmp(shell, "fish")) fish();
    else return cli_wrong(args, "there is no completion for \"%s\"; expected bash, zsh or fish", shell);
    return EXIT_DONE;
}

static const cli_option options[] = {{NULL, NULL, NULL, NULL}};
static const char *const examples[] = {"completion bash > daedalus.bash", "then: source daedalus.bash", NULL};
const cli_command cli_completion = {"completion",
                                    "completion script for a shell",
                                    "bash|zsh|fish",
                                    "bash|zsh|fish",
                                    1,
                                    1,
                                    options,
                                    examples,
                                    NULL,
                                    run};
