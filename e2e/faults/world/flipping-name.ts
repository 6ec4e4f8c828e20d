/** The host name whose address a case may change. */
export const FLIPPING_NAME = "flipping.test";
