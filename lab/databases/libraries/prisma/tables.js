// The output of `npx prisma db push` for the schemas. That command needs the schema engine, which an install script of
// Prisma's downloads. Here no such script runs, so the tables are created by hand.

/** `quote`: keeps a capital letter. */
const tables = ({ id, text, quote }) => [
  `CREATE TABLE customers (id ${id} NOT NULL PRIMARY KEY, name ${text} NOT NULL)`,
  `CREATE TABLE orders (id ${id} NOT NULL PRIMARY KEY, item ${text} NOT NULL, customer_id ${id} NOT NULL,
      FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE RESTRICT ON UPDATE CASCADE)`,
  `CREATE TABLE tags (id ${id} NOT NULL PRIMARY KEY, label ${text} NOT NULL)`,
  `CREATE TABLE ${quote}_CustomerToTag${quote} (${quote}A${quote} ${id} NOT NULL, ${quote}B${quote} ${id} NOT NULL,
      FOREIGN KEY (${quote}A${quote}) REFERENCES customers (id) ON DELETE CASCADE ON UPDATE CASCADE,
      FOREIGN KEY (${quote}B${quote}) REFERENCES tags (id) ON DELETE CASCADE ON UPDATE CASCADE)`,
  // The name by which stored.js finds it.
  `CREATE VIEW customer_tags AS
      SELECT ${quote}A${quote} AS customer_id, ${quote}B${quote} AS tag_id FROM ${quote}_CustomerToTag${quote}`,
]

export const TABLES = {
  postgres: tables({ id: 'BIGINT', text: 'TEXT', quote: '"' }),
  mariadb: tables({ id: 'BIGINT UNSIGNED', text: 'VARCHAR(191)', quote: '`' }),
  sqlite: tables({ id: 'BIGINT', text: 'TEXT', quote: '"' }),
}
