/**
 * Exit codes of the service, and of `npm start`. A process that a signal ended has 128 + the number of the signal.
 */
export const EXIT_CODES = {
  /** The service was stopped in an orderly way. */
  stopped: 0,
  /** The service could not start or shut down, or failed. */
  failed: 1,
  /** A setting is wrong, so that another start would fail too: `EX_CONFIG` of sysexits.h. */
  wrongSetting: 78,
};
