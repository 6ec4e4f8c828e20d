// The build replaces these global names in the runtime by the exports of this file. The runtime shares its JavaScript
// world with the page, and old libraries replace built-ins by others with the same name.

const { keys, hasOwn, create, defineProperty, getOwnPropertyDescriptor } = Object;
const { apply, get, defineProperty: tryDefine, getPrototypeOf, deleteProperty } = Reflect;
const { Map: KeptMap, Set: KeptSet, WeakMap: KeptWeakMap, WeakSet: KeptWeakSet } = globalThis;
const { String: KeptString, Boolean: KeptBoolean, RegExp: KeptRegExp, Error: KeptError } = globalThis;
const { max } = Math;
const now = performance.now.bind(performance);
const { supports } = CSS;
const startTimer = globalThis.setTimeout;
const stopTimer = globalThis.clearTimeout;
const requestFrame = globalThis.requestAnimationFrame;
const queueTask = globalThis.queueMicrotask;

export {
  apply as "Reflect.apply",
  create as "Object.create",
  defineProperty as "Object.defineProperty",
  deleteProperty as "Reflect.deleteProperty",
  get as "Reflect.get",
  getOwnPropertyDescriptor as "Object.getOwnPropertyDescriptor",
  getPrototypeOf as "Reflect.getPrototypeOf",
  hasOwn as "Object.hasOwn",
  KeptBoolean as Boolean,
  KeptError as Error,
  KeptMap as Map,
  KeptRegExp as RegExp,
  KeptSet as Set,
  KeptString as String,
  KeptWeakMap as WeakMap,
  KeptWeakSet as WeakSet,
  keys as "Object.keys",
  max as "Math.max",
  now as "performance.now",
  queueTask as queueMicrotask,
  requestFrame as requestAnimationFrame,
  startTimer as setTimeout,
  stopTimer as clearTimeout,
  supports as "CSS.supports",
  tryDefine as "Reflect.defineProperty",
};
