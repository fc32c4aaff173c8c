// Package database reads the SQLite databases of other programs, which may be writing them, and
// changes one whose program does not run ([Change]). It is the only package that links SQLite.
//
// To be read, a database is never opened where it is: SQLite would create files beside it, take
// locks, and fold the log of a program that crashed into it. [Open] copies it to a private temporary folder, with the
// log (-wal) or the rollback journal (-journal) that belongs to it, and SQLite recovers the copy. On
// Unix the folder is removed as soon as the copy is open; on Windows it stays if the process is killed.
//
// # A consistent copy
//
// Nothing stops the program from writing while its files are copied. Whether the copy is consistent is
// therefore checked afterwards.
//
// With a log, the database file is copied before the log. Between two resets of the log, a
// program only appends to it, and changes the database file only by a checkpoint, which copies
// committed pages of the log there. A page that a checkpoint wrote while the file was being
// copied, whole or torn, is therefore in the log that is copied afterwards, and SQLite takes it
// from there. A reset, after which the log begins anew, changes the salts in its header (first 32
// bytes): if the header differs before and after, or the log came or went, both are copied again.
// At the end of the log there may be half a transaction; SQLite recognizes that by checksums and
// ignores it.
//
// Without a log, the program changes the database file itself, after it has saved the old pages in
// the journal. The copy is valid if the file, its change counter (bytes 24 to 27) and the journal
// are the same before and after. A journal that stays, of a program that crashed or is in the
// middle of a transaction, is copied, and SQLite rolls the copy back.
//
// See https://www.sqlite.org/fileformat2.html (sections 1.3, 3 and 4) and
// https://www.sqlite.org/wal.html.
package database
