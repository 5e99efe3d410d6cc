// Every option of mysql2 and mariadb, and its effect on the store. A row is a verdict and its names.
//
// place: where we connect. The database is found once, and then each statement names it. session: how the server treats
// a statement. Ours set their own settings, and are rejected in a transaction or without autocommit. reply: the form of
// values and rows. Each statement of ours asks for texts in arrays. time: when a statement is sent, or given up. A late
// or repeated swap finds another record. nothing: it changes neither.

const rows = (verdict, names) => Object.fromEntries(names.split(/\s+/).map((name) => [name, verdict]))

export const MYSQL2 = {
  ...rows('place', 'host port socketPath localAddress uri user password password1 password2 password3 passwordSha1'),
  ...rows('place', 'database ssl stream authPlugins authSwitchHandler enableCleartextPlugin insecureAuth isServer'),
  ...rows('session', 'charset charsetNumber flags multipleStatements connectAttributes'),
  ...rows('session', 'resetOnRelease'), // it would undo a USE; we send none
  ...rows('reply', 'bigNumberStrings supportBigNumbers decimalNumbers dateStrings timezone jsonStrings typeCast'),
  ...rows('reply', 'rowsAsArray nestTables disableEval'),
  ...rows('time', 'connectTimeout connectionLimit maxIdle idleTimeout queueLimit waitForConnections'),
  ...rows('time', 'enableKeepAlive keepAliveInitialDelay gracefulEnd'),
  ...rows('nothing', 'namedPlaceholders queryFormat stringifyObjects maxPreparedStatements'), // our statements have no values
  ...rows('nothing', 'compress debug trace infileStreamFactory pool Promise'),
}

export const MARIADB = {
  ...rows('place', 'host port socketPath user password database ssl stream rsaPublicKey cachingRsaPublicKey'),
  ...rows('place', 'allowPublicKeyRetrieval restrictedAuth permitConnectionWhenExpired'),
  ...rows('place', 'permitRedirect'), // the identity shows another server
  ...rows('session', 'charset charsetNumber collation initSql sessionVariables multipleStatements foundRows'),
  ...rows('session', 'connectAttributes queryTimeout resetAfterUse noControlAfterUse'),
  ...rows('reply', 'bigIntAsNumber bigNumberStrings supportBigNumbers decimalAsNumber insertIdAsNumber dateStrings'),
  ...rows('reply', 'timezone typeCast rowsAsArray nestTables metaAsArray metaEnumerable autoJsonMap jsonStrings'),
  ...rows('reply', 'bitOneIsBoolean checkNumberRange checkDuplicate fullResult'),
  ...rows('time', 'connectTimeout socketTimeout acquireTimeout connectionLimit idleTimeout initializationTimeout'),
  ...rows('time', 'minDelayValidation minimumIdle leakDetectionTimeout pingTimeout pipelining keepAliveDelay'),
  ...rows('time', 'keepAliveInitialDelay enableKeepAlive'),
  ...rows('nothing', 'namedPlaceholders permitSetMultiParamEntries arrayParenthesis bulk prepareCacheLength'),
  ...rows('nothing', 'compress debug debugCompress debugLen logParam logPackets logger trace keepEof'),
  ...rows('nothing', 'maxAllowedPacket maxAllowedColumns permitLocalInfile infileStreamFactory forceVersionCheck'),
}

/** The names that mysql2 accepts: it keeps them in one object. */
export const namesOfMysql2 = (source) =>
  [.../validOptions = \{([\s\S]*?)\n\};/.exec(source)[1].matchAll(/^ {2}(\w+): 1,$/gm)].map(([, name]) => name)

/** The names that a file of mariadb reads, and those in its declarations. */
export const namesOfMariadb = (source) => [
  ...new Set([...source.matchAll(/\bopts\.([a-z]\w*)/g)].map(([, name]) => name)),
]

export function declaredNames(source, type) {
  const [, body] = new RegExp(`export interface ${type}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name)
}
