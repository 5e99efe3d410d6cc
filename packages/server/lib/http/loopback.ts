// Which names and addresses mean this machine and nobody else's.

/** @param host without a port, and without the brackets of an address */
export const isLoopback = (host: string) => /^(?:localhost|.+\.localhost|::1|127(?:\.\d{1,3}){3})$/i.test(host)
