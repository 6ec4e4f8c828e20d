/** The name whose address changes, where a case wants one. */
export const FLIPPING_NAME = "flipping.test";
