// The driver adapter of each database.

export const ADAPTERS = {
  async postgres(url) {
    const { PrismaPg } = await import('@prisma/adapter-pg')
    return new PrismaPg({ connectionString: url })
  },
  async mariadb(url) {
    const { PrismaMariaDb } = await import('@prisma/adapter-mariadb')
    return new PrismaMariaDb(url)
  },
  async sqlite(url) {
    const { PrismaBetterSqlite3 } = await import('@prisma/adapter-better-sqlite3')
    return new PrismaBetterSqlite3({ url: `file:${url}` })
  },
}
