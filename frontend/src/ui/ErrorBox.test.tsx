/** An error leads to the page that explains it, if there is one. */

import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { ApiError, unreachable } from "../api/errors";
import { ErrorBox } from "./ErrorBox";

test("an error of a kind with a page links to it", () => {
  const html = renderToStaticMarkup(<ErrorBox error={new ApiError(403, "needs_trust", "Not approved.")} />);

  expect(html).toContain('href="/docs/trust.html"');
  expect(html).toContain("Learn more");
});

test("other errors, and a host that is gone, link nowhere", () => {
  for (const error of [new ApiError(400, "usage", "Wrong."), unreachable(), new Error("no_model")]) {
    expect(renderToStaticMarkup(<ErrorBox error={error} />)).not.toContain("/docs/");
  }
});
