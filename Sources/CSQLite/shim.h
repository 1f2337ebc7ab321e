// SQLite as it is, and its variadic configuration calls as plain functions.
#pragma once
#include <sqlite3.h>
