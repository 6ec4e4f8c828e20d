import { AsyncLocalStorage } from "node:async_hooks";

const addresses = new AsyncLocalStorage<string>();

/** Runs the work of a request. Security events that the work records contain the address of the client. */
export const withAddress = <Result>(address: string | undefined, work: () => Result): Result =>
  address === undefined ? work() : addresses.run(address, work);

/**
 * Returns the address of the client whose request is being served. Undefined outside of a request, and if the client's
 * address is unknown.
 */
export const readAddress = (): string | undefined => addresses.getStore();

/** Runs work with the address that {@link keepAddress} captured. */
export type KeptAddress = <Result>(work: () => Result) => Result;

/**
 * Captures the client's address for callbacks that run after the request. The request itself is not captured, so that
 * it can be freed.
 */
export const keepAddress = (): KeptAddress => {
  const address = readAddress();
  return (work) => withAddress(address, work);
};
