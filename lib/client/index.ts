/** The TypeScript client of the service's API. It has no dependencies. `npm run build:client` builds it. */
export type { AnswerOf, CallOptions, InputOf, OperationName } from "./call-operation.ts";
export type { LiveOptions, LiveSession, LiveStatus, ScreencastFrame } from "./connect-live.ts";
export { type Client, type ClientOptions, createClient } from "./create-client.ts";
export type { FollowOptions, RequestRef, StreamEvent } from "./follow-events.ts";
export type {
  FrameEnd,
  FrameMessage,
  FrameState,
  HostCommand,
  HostMessage,
  HostMessageAccepted,
} from "./frame-messages.ts";
export {
  type MountedEvents,
  type MountedSession,
  type MountedState,
  type MountOptions,
  mountSession,
} from "./mount-session.ts";
export { ApiError, ConnectionError, DeliverableError, WaitTimeoutError } from "./service-error.ts";
export {
  type CallbackBody,
  CallbackSignatureError,
  type VerifiedCallback,
  verifyCallback,
} from "./verify-callback.ts";
export type { WaitOptions } from "./wait-for.ts";
export type * from "./wire.ts";
