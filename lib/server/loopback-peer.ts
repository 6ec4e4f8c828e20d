const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/** Whether the peer of a connection is a process of this machine. */
export const isLoopbackPeer = (address: string | undefined): boolean => LOOPBACK.test(address ?? "");
