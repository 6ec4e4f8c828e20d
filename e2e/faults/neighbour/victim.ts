/** A text in every message of the measured owner, by which the model knows its calls. */
export const VICTIM = "MEASURED";
