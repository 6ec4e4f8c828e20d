import { type Token, Tokenizer, TokenizerMode } from "parse5";

/** What {@link readTags} calls, in the order of the HTML. The names of tags and attributes are in lower case. */
type TagHandler = {
  onStart: (tag: string, attributes: Token.Attribute[]) => void;
  onEnd?: (tag: string) => void;
  /** Gets a text in pieces, with its character references decoded. */
  onText?: (piece: string) => void;
};

/** Elements whose content is text, with the state in which the tokenizer reads it. */
const TEXT_STATES: Partial<Record<string, Tokenizer["state"]>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
};

/** Reads the tags and texts of HTML. Builds no tree, because the tree of a short text can be huge. Never throws. */
export function readTags(html: string, { onStart, onEnd = ignore, onText = ignore }: TagHandler): void {
  const onCharacters = ({ chars }: Token.CharacterToken) => onText(chars);
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag({ tagName, attrs }) {
        tokenizer.state = TEXT_STATES[tagName] ?? tokenizer.state;
        tokenizer.lastStartTagName = tagName;
        onStart(tagName, attrs);
      },
      onEndTag: ({ tagName }) => onEnd(tagName),
      onCharacter: onCharacters,
      onWhitespaceCharacter: onCharacters,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(html, true);
}

function ignore(): void {}
