import { expect, test } from "vitest";

import { providersFor } from "./accountProviders";

const PROVIDERS = [
  { provider: "google", services: ["mail", "calendar"] },
  { provider: "imap", services: ["mail"] },
  { provider: "discord", services: ["discord"] },
];

test("a bundled server has the providers of its service, whatever its name is", () => {
  expect(providersFor('{"type": "inprocess", "module": "toolcrib.bundled.mail"}', PROVIDERS)).toEqual([
    "google",
    "imap",
  ]);
});

test("other servers use no accounts", () => {
  expect(providersFor('{"type": "inprocess", "module": "toolcrib.bundled.demo"}', PROVIDERS)).toEqual([]);
  expect(providersFor('{"command": "mail"}', PROVIDERS)).toEqual([]);
  expect(providersFor("", PROVIDERS)).toEqual([]);
});
