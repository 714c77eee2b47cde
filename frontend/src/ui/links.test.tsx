import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { webAddress } from "./address";
import { Markdown } from "./Markdown";
import { OutsideButton } from "./OutsideLink";

const shown = (text: string) => renderToStaticMarkup(<Markdown text={text} />);
const sources = import.meta.glob<string>("../**/*.tsx", { query: "?raw", import: "default", eager: true });

test.each([
  "javascript:alert(1)",
  "javascript://127.0.0.1/%0aalert(1)",
  " https://example.com",
  "JaVaScRiPt:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "vbscript:x",
  "blob:https://example.com/x",
  "//example.com",
  "https:example.com",
  "https://",
  "https://[",
  "mailto:a@example.com",
  "",
])("%s is no address of a web page", (address) => {
  expect(webAddress(address)).toBe("");
  expect(renderToStaticMarkup(<OutsideButton address={address}>Open</OutsideButton>)).toBe("");
  expect(shown(`[Open](<${address}>)`)).not.toContain("href");
});

test("a link shows its host beside its text, and its whole address when it is pointed at", () => {
  const html = shown("[Allow](http://evil.example/path?x=1)");
  expect(html).toContain('href="http://evil.example/path?x=1"');
  expect(html).toContain('title="http://evil.example/path?x=1"');
  expect(html).toContain('<bdi class="link-host">evil.example</bdi>');
  expect(html).toContain('rel="noopener noreferrer nofollow"');
});

test.each(["https://example.com/a", "example.com/a", "https://example.com/a/"])("%s is its own address", (text) => {
  expect(shown(`[${text}](https://example.com/a)`)).not.toContain("link-host");
});

test.each([
  "https://bank.example",
  "bank.example",
  "www.bank.example/login",
  "**bank.example**",
  "Go: https://bank.example",
])("a link that pretends to be %s shows its real address", (text) => {
  const html = shown(`[${text}](https://evil.example/bank.example)`);
  expect(html).toContain(">https://evil.example/bank.example</a>");
});

test("a host that only looks like another one is shown in ASCII", () => {
  expect(shown("[Sign in](https://аpple.com/)")).toContain(">xn--pple-43d.com</bdi>");
});

test("links that come from data are made in one place", () => {
  const made = /<a\s[^>]*href=\{/;
  const files = Object.keys(sources).filter((name) => made.test(sources[name] ?? "") && !name.includes(".test."));
  expect(files.sort()).toEqual(["../app/router.tsx", "./LearnMore.tsx", "./OutsideLink.tsx"].sort());
  const opened = /window\.open|location\.(href|assign|replace)|location\s*=[^=]|dangerouslySetInnerHTML|<iframe|srcDoc/;
  expect(Object.keys(sources).filter((name) => opened.test(sources[name] ?? "") && !name.includes(".test."))).toEqual(
    [],
  );
});
