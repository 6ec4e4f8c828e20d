/**
 * The failure of a setup step. The message tells the user what to do and is printed without a stack trace. `details` is
 * the whole output of the failed command; empty if no command failed.
 */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} [details]
   */
  constructor(message, details = "") {
    super(message);
    this.name = "SetupError";
    this.details = details;
  }
}
