// What `npx prisma db push` makes of the schemas. That command needs the schema engine, which an install script of Prisma's
// downloads. Here no such script runs, so the tables are made by hand.

const tables = ({ id, text }) => [
  `CREATE TABLE customers (id ${id} NOT NULL PRIMARY KEY, name ${text} NOT NULL)`,
  `CREATE TABLE orders (id ${id} NOT NULL PRIMARY KEY, item ${text} NOT NULL, customer_id ${id} NOT NULL,
      FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE RESTRICT ON UPDATE CASCADE)`,
]

export const TABLES = {
  postgres: tables({ id: 'BIGINT', text: 'TEXT' }),
  mariadb: tables({ id: 'BIGINT UNSIGNED', text: 'VARCHAR(191)' }),
  sqlite: tables({ id: 'BIGINT', text: 'TEXT' }),
}
