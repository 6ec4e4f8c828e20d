/** The methods that a path is answered for; those without an operation get the contract's own 405. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
