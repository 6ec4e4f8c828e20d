/**
 * Makes `node:test` follow tests with `AsyncLocalStorage`. By itself, it follows them with a hook that Node calls for each
 * promise, timer and socket of the process (decision 102). Import this before `node:test`.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { createRequire } from "node:module";

const { createHook, executionAsyncId } = asyncHooks;
/** The id of the test that the current code belongs to. @type {AsyncLocalStorage<number>} */
const current = new AsyncLocalStorage();
/** The functions with which the runner notes its tests. @type {import("node:async_hooks").HookCallbacks[]} */
const hooks = [];

/** Replaces the base class of tests. */
class FollowedResource extends AsyncResource {
  /** @param {ConstructorParameters<typeof AsyncResource>} args */
  constructor(...args) {
    super(...args);
    for (const { init } of hooks) init?.(this.asyncId(), args[0], this.triggerAsyncId(), this);
  }

  /**
   * @override
   * @type {AsyncResource["runInAsyncScope"]}
   */
  runInAsyncScope(fn, thisArg, ...args) {
    return super.runInAsyncScope(() => current.run(this.asyncId(), () => Reflect.apply(fn, thisArg, args)));
  }
}

// The runner takes these functions when it is loaded; all other code gets the originals.
Object.assign(asyncHooks, {
  AsyncResource: FollowedResource,
  executionAsyncId: () => current.getStore() ?? 0,
  /** @param {import("node:async_hooks").HookCallbacks} callbacks */
  createHook(callbacks) {
    const noted = { enable: () => noted, disable: () => noted };
    hooks.push(callbacks);
    return noted;
  },
});
createRequire(import.meta.url)("node:test");
Object.assign(asyncHooks, { AsyncResource, executionAsyncId, createHook });
