import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { AccountField } from "./AccountField";
import { field } from "./samples";

function markup(changes: Parameters<typeof field>[1], value = "", problem = ""): string {
  const props = { problem, disabled: false, value, onChange: () => undefined, input: () => undefined };
  return renderToStaticMarkup(<AccountField field={field("key", changes)} {...props} />);
}

test("a secret is a password field that is given no value", () => {
  const shown = markup({ secret: true }, "leaked");
  expect(shown).toContain('type="password"');
  expect(shown).not.toContain("leaked");
});

test("a secret that is a file can be chosen", () => {
  const props = { problem: "", disabled: false, value: "", onChange: () => undefined, input: () => undefined };
  const shown = renderToStaticMarkup(<AccountField field={field("client_file", { secret: true })} {...props} />);
  expect(shown).toContain("Choose file");
  expect(markup({ secret: true })).not.toContain("Choose file");
});

test("choices are offered with the default chosen", () => {
  const shown = markup({ choices: ["tls", "plain"] }, "plain");
  expect(shown).toContain('<option value="plain" selected="">plain</option>');
  expect(shown).not.toContain("Choose…");
  expect(markup({ choices: ["tls"] })).toContain("Choose…");
  expect(markup({ choices: ["tls"], required: false })).toContain("Automatic");
});

test("help and problem describe the field", () => {
  const shown = markup({ help: "An app password." }, "", "Required.");
  expect(shown).toMatch(/aria-invalid="true" aria-describedby="account-key-help"/);
  expect(shown).toMatch(/<div id="account-key-help">.*Required\..*An app password\..*<\/div>/);
  expect(markup({ required: false })).toContain("optional");
});
