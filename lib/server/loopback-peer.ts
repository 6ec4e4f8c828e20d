const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/** Whether the peer of a connection is on this machine: it has a loopback address. */
export const isLoopbackPeer = (address: string | undefined): boolean => LOOPBACK.test(address ?? "");
