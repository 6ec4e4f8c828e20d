// The build replaces these global names in the runtime by the exports of this file. The runtime shares its JavaScript
// world with the page, and old libraries replace built-ins by others with the same name.

const { keys } = Object;
const { apply, get, set, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, deleteProperty } = Reflect;
const {
  Map: KeptMap,
  Set: KeptSet,
  WeakMap: KeptWeakMap,
  WeakSet: KeptWeakSet,
  RegExp: KeptRegExp,
} = globalThis;
const now = performance.now.bind(performance);
const startTimer = globalThis.setTimeout;
const stopTimer = globalThis.clearTimeout;
const requestFrame = globalThis.requestAnimationFrame;
const queueTask = globalThis.queueMicrotask;

export {
  apply as "Reflect.apply",
  defineProperty as "Reflect.defineProperty",
  deleteProperty as "Reflect.deleteProperty",
  get as "Reflect.get",
  getOwnPropertyDescriptor as "Reflect.getOwnPropertyDescriptor",
  getPrototypeOf as "Reflect.getPrototypeOf",
  KeptMap as Map,
  KeptRegExp as RegExp,
  KeptSet as Set,
  KeptWeakMap as WeakMap,
  KeptWeakSet as WeakSet,
  keys as "Object.keys",
  now as "performance.now",
  queueTask as queueMicrotask,
  requestFrame as requestAnimationFrame,
  set as "Reflect.set",
  startTimer as setTimeout,
  stopTimer as clearTimeout,
};
