// For the type checker only: what those packages export that bring no types, or that are not installed here.

declare module 'flakeforge-*' {
  const addon: typeof import('../../../target/native.d.ts')
  export = addon
}

declare module 'pg'
