// TOML read by toml++, flattened for Swift: the entries of the document's own table, in no particular order, each
// followed by its elements where it is an array.
#ifndef CTOML_H
#define CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ctoml_kind {
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    CTOML_TIME,
    CTOML_ARRAY,
    CTOML_TABLE,
};

/// An entry, or an element of the array before it.
struct ctoml_item {
    enum ctoml_kind kind;
    /// Line of the key, or of the element, from 1.
    uint32_t line;
    /// The key; null for an element.
    const char *key;
    size_t key_length;
    /// What a string says.
    const char *text;
    size_t text_length;
    /// What an integer is; of a boolean 1 or 0.
    int64_t integer;
};

struct ctoml_document;

/// Reads a document. Never null; to be freed.
struct ctoml_document *ctoml_parse(const char *text, size_t length);
/// What is wrong with it, as one line; null where nothing is.
const char *ctoml_error(const struct ctoml_document *document);
/// Line of what is wrong, from 1.
uint32_t ctoml_error_line(const struct ctoml_document *document);
/// How many items it has.
size_t ctoml_count(const struct ctoml_document *document);
/// The item at a place below the count. Its pointers are good as long as the document is.
struct ctoml_item ctoml_item_at(const struct ctoml_document *document, size_t place);
void ctoml_free(struct ctoml_document *document);

#ifdef __cplusplus
}
#endif
#endif
