// SQLite as it is, and what its macros hide from Swift.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

/// The name of an extended result code, as the SQLite documentation spells it, or of its primary code.
static inline const char *csqlite_code_name(int code) {
#define CSQLITE_NAME(name) case name: return #name
  switch (code) {
    CSQLITE_NAME(SQLITE_BUSY_RECOVERY);
    CSQLITE_NAME(SQLITE_BUSY_SNAPSHOT);
    CSQLITE_NAME(SQLITE_CANTOPEN_FULLPATH);
    CSQLITE_NAME(SQLITE_CANTOPEN_ISDIR);
    CSQLITE_NAME(SQLITE_CONSTRAINT_PRIMARYKEY);
    CSQLITE_NAME(SQLITE_CORRUPT_INDEX);
    CSQLITE_NAME(SQLITE_IOERR_ACCESS);
    CSQLITE_NAME(SQLITE_IOERR_CLOSE);
    CSQLITE_NAME(SQLITE_IOERR_CORRUPTFS);
    CSQLITE_NAME(SQLITE_IOERR_DELETE);
    CSQLITE_NAME(SQLITE_IOERR_DIR_FSYNC);
    CSQLITE_NAME(SQLITE_IOERR_FSTAT);
    CSQLITE_NAME(SQLITE_IOERR_FSYNC);
    CSQLITE_NAME(SQLITE_IOERR_LOCK);
    CSQLITE_NAME(SQLITE_IOERR_NOMEM);
    CSQLITE_NAME(SQLITE_IOERR_READ);
    CSQLITE_NAME(SQLITE_IOERR_SHMLOCK);
    CSQLITE_NAME(SQLITE_IOERR_SHMMAP);
    CSQLITE_NAME(SQLITE_IOERR_SHMOPEN);
    CSQLITE_NAME(SQLITE_IOERR_SHMSIZE);
    CSQLITE_NAME(SQLITE_IOERR_SHORT_READ);
    CSQLITE_NAME(SQLITE_IOERR_TRUNCATE);
    CSQLITE_NAME(SQLITE_IOERR_UNLOCK);
    CSQLITE_NAME(SQLITE_IOERR_WRITE);
    CSQLITE_NAME(SQLITE_READONLY_CANTINIT);
    CSQLITE_NAME(SQLITE_READONLY_DBMOVED);
    CSQLITE_NAME(SQLITE_READONLY_DIRECTORY);
    CSQLITE_NAME(SQLITE_READONLY_RECOVERY);
  }
  switch (code & 0xff) {
    CSQLITE_NAME(SQLITE_OK);
    CSQLITE_NAME(SQLITE_ERROR);
    CSQLITE_NAME(SQLITE_ABORT);
    CSQLITE_NAME(SQLITE_AUTH);
    CSQLITE_NAME(SQLITE_BUSY);
    CSQLITE_NAME(SQLITE_CANTOPEN);
    CSQLITE_NAME(SQLITE_CONSTRAINT);
    CSQLITE_NAME(SQLITE_CORRUPT);
    CSQLITE_NAME(SQLITE_FULL);
    CSQLITE_NAME(SQLITE_INTERNAL);
    CSQLITE_NAME(SQLITE_INTERRUPT);
    CSQLITE_NAME(SQLITE_IOERR);
    CSQLITE_NAME(SQLITE_LOCKED);
    CSQLITE_NAME(SQLITE_MISMATCH);
    CSQLITE_NAME(SQLITE_MISUSE);
    CSQLITE_NAME(SQLITE_NOMEM);
    CSQLITE_NAME(SQLITE_NOTADB);
    CSQLITE_NAME(SQLITE_PERM);
    CSQLITE_NAME(SQLITE_PROTOCOL);
    CSQLITE_NAME(SQLITE_READONLY);
    CSQLITE_NAME(SQLITE_TOOBIG);
  }
#undef CSQLITE_NAME
  return "SQLITE_?";
}

/// SQLite's macro, whose value Swift can't compute.
static const int csqlite_failed_sync = SQLITE_IOERR_FSYNC;

/// Sets whether the close of a database's last connection leaves the WAL as it is.
static inline int csqlite_keep_wal_on_close(sqlite3 *connection, int keeps) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

/// Sets the number of frames that count as copied into the database to 0 in the index of a WAL, a file that another process
/// may use. Its format is in SQLite's documentation ("WAL-mode File Format", the WAL-index file format): the number is the
/// word at byte 96, and a checkpoint holds a lock of byte 121. Returns 0 or an errno, EAGAIN while a checkpoint runs. An
/// index that is missing, or can't be opened, is left to SQLite.
static inline int csqlite_forget_copies(const char *index) {
  const uint32_t none = 0;
  const off_t place = 96;
  struct flock checkpoint = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 121, .l_len = 1};
  struct stat status;
  int result = 0;
  int file = open(index, O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  if (fcntl(file, F_SETLK, &checkpoint) != 0) {
    result = errno == EACCES ? EAGAIN : errno;
  } else if (fstat(file, &status) == 0 && status.st_size >= place + (off_t)sizeof none &&
             pwrite(file, &none, sizeof none, place) != (ssize_t)sizeof none) {
    result = errno;
  }
  close(file);
  return result;
}
