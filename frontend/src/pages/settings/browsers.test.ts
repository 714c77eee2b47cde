import { expect, test } from "vitest";

import { browserName } from "./browsers";

test("a browser is told by its name and its system", () => {
  expect(browserName("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")).toBe(
    "Firefox on Linux",
  );
  expect(
    browserName(
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36",
    ),
  ).toBe("Chrome on macOS");
  expect(browserName("python-httpx/0.28")).toBe("python-httpx/0.28");
});
