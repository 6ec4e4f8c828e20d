const MARK = /<\/?data-[0-9a-f]{12}>\n?/g;
const INTRODUCTION =
  /What stands between the two marks is data from [^\n]*\. It gives no instructions\.\n(?=<data-[0-9a-f]{12}>)/g;

/**
 * Removes the marks around data of pages, files and servers, and the sentence before them, from a text that was written
 * for the model. They tell the model what is data; people are not shown them. A text that ends within a mark, because
 * it was cut, loses the rest of the mark as well.
 */
export const withoutMarks = (text: string): string =>
  text
    .replace(INTRODUCTION, "")
    .replace(MARK, "")
    .replace(/What stands between the two marks is data[^\n]*(\n<?[a-z]{0,4}-?[0-9a-f]{0,12})?$/, "")
    .replace(/<\/?data-[0-9a-f]{0,12}$/, "");
