/* The server is the program daedalus-serve, which lies beside this one. */
#include "serve.h"

#include <string.h>

int cli_serve(cli_args *args, const serve_options *o)
{
    (void)o;
    int why = cli_hand_over(args, "daedalus-serve");
    return cli_wrong(
        args,
        "serve needs the program daedalus-serve (%s); build it with libmicrohttpd and libseccomp "
        "(Debian: libmicrohttpd-dev, libseccomp-dev; make extras)",
        strerror(why));
}
