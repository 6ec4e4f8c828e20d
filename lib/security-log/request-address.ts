import { AsyncLocalStorage } from "node:async_hooks";

const addresses = new AsyncLocalStorage<string>();

/** Runs the work of a request; events recorded meanwhile contain the client's address. */
export const withAddress = <Result>(address: string | undefined, work: () => Result): Result =>
  address === undefined ? work() : addresses.run(address, work);

/** The address of the client whose request is being served. */
export const readAddress = (): string | undefined => addresses.getStore();

/** Runs work with the captured address. */
export type KeptAddress = <Result>(work: () => Result) => Result;

/** Captures the address, and nothing else of the request, for callbacks of a connection that outlives the request. */
export const keepAddress = (): KeptAddress => {
  const address = readAddress();
  return (work) => withAddress(address, work);
};
