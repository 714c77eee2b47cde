/** A block of code: its language, a Copy button, and colors once what finds them is loaded; up to which length code is
 * colored. */

import { memo, useMemo } from "react";

import { Copy } from "./Copy";
import { lazily } from "./lazily";

const MOST_COLORED = 30_000; // Characters; a streamed block is read again with each piece.
const useHighlighter = lazily(() => import("./highlight"));

export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  const highlighter = useHighlighter(language !== "" && code.length <= MOST_COLORED);
  const tokens = useMemo(
    () => highlighter?.highlighted(code, language.toLowerCase()) ?? null,
    [highlighter, code, language],
  );
  return (
    <div className={language ? "code-block" : "code-block without-language"}>
      <div className="code-head">
        <span className="grow muted text-small">{language}</span>
        <Copy bare text={code} />
      </div>
      <pre className="code wrap">
        <code>
          {tokens
            ? tokens.map((token, index) =>
                token.kind === "identifier" ? (
                  token.text
                ) : (
                  <span key={index} className={`code-${token.kind}`}>
                    {token.text}
                  </span>
                ),
              )
            : code}
        </code>
      </pre>
    </div>
  );
});
