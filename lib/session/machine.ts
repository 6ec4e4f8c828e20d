type Table = Record<string, Record<string, string>>;

/** The states of a table: the states that have a row, and the states that occur only as a next state. */
type StateOf<T extends Table> = (keyof T | { [S in keyof T]: T[S][keyof T[S]] }[keyof T]) & string;

/** The events of a table. */
export type EventOf<T extends Table> = { [S in keyof T]: keyof T[S] }[keyof T] & string;

/**
 * Creates a state machine from a table of state → event → next state. `next` is pure; the caller stores the new state
 * with a compare-and-set on the old state.
 */
export function machine<const T extends Table>(name: string, table: T) {
  return {
    /**
     * Returns the next state. @throws Error if the event is not allowed in this state, which is a bug of the caller.
     */
    next(state: StateOf<T>, event: EventOf<T>): StateOf<T> {
      const to = table[state]?.[event];
      if (to === undefined) throw new Error(`${name}: no move from ${state} by ${event}`);
      return to as StateOf<T>;
    },
    /** Whether the event is allowed in this state. */
    can: (state: StateOf<T>, event: EventOf<T>): boolean => table[state]?.[event] !== undefined,
  };
}
