/** The host name whose address a case may change while the service runs. */
export const FLIPPING_NAME = "flipping.test";
