/** Why nothing of a page is read or changed during a handover, as a sentence for the model. */
export const HANDED_OVER =
  "The browser is handed over to a person, who works in it now: nothing of the page can be read or changed. Continue without the page, or try again later.";
