/* Parts of pages: documentation as HTML, text of users in HTML, names of files. */
#ifndef DAEDALUS_PAGE_H
#define DAEDALUS_PAGE_H

#include <daedalus/status.h>

DAE_BEGIN_DECLS

/* ---- Pages ----------------------------------------------------------------------------------- */

/* The documentation page (Markdown) of a method or formulation, or NULL. */
DAE_API const char *dae_method_doc(const char *name);
DAE_API const char *dae_formulation_doc(const char *name);

/* ---- Pages --------------------------------------------------------------------------------------- */

/* Text in HTML: & < > " ' are written as entities. */
DAE_API dae_status dae_html_text(const char *text, size_t length, dae_write_fn *write, void *user);
/* A file of this name in an address: a link to it in the same folder, whatever the name is. */
DAE_API dae_status dae_html_address(const char *name, dae_write_fn *write, void *user);
/* A file's name made of any text: letters, digits and - _ . stay, all else becomes _, so that it names no other folder. It is
 * not empty and does not begin with a dot or a dash. size >= 2. */
DAE_API void dae_file_name(const char *text, char *name, size_t size);
/* The Markdown of the documentation pages as HTML: headings, paragraphs, lists, tables, indented and fenced blocks
 * (class "equations" where they are indented), links, emphasis, code. Headings become heading_shift levels lower. What is
 * HTML in the text is shown, not interpreted. */
DAE_API dae_status dae_markdown_html(const char *text, size_t length, int heading_shift, dae_write_fn *write,
                                     void *user);

DAE_END_DECLS

#endif
