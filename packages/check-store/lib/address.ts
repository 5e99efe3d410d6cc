// The addresses of servers on the command line, in place of a module: several of them are checked as one store.

/** Whether a word is the address of a server, or several in one text. */
export const isAddress = (word: string): boolean => /^\s*[a-z][a-z\d+.-]*:\/\//i.test(word)

/** The addresses in such a text. */
export const addressesIn = (text: string): string[] => text.split(/\s+/).filter(Boolean)
