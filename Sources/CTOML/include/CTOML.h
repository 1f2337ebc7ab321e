// TOML read by toml++, flattened for Swift: the entries of the document's own table, in no particular order. An array or a
// table is followed by what it holds, one level deeper.
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

/// An array or a table at this depth comes without what it holds, so that recursion is bounded.
#define CTOML_DEEPEST 64

/// An entry of a table, or an element of an array.
struct ctoml_item {
    enum ctoml_kind kind;
    /// How many arrays and tables it is in, the document's own table aside.
    uint32_t depth;
    /// Line and column of the key, or of the element, from 1.
    uint32_t line;
    uint32_t column;
    /// The key; null for an element.
    const char *key;
    size_t key_length;
    /// What a string says; a date, a time or both as RFC 3339 spells them.
    const char *text;
    size_t text_length;
    /// What an integer is; of a boolean 1 or 0.
    int64_t integer;
    /// What a float is.
    double number;
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
