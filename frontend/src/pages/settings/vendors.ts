/** Model vendors and addresses in Settings: their order, state ("Not tested", "Rejected"), explanation, and the model
 * that a test uses. Pure. */

import type { Vendor, VendorTrial } from "../../api/types";
import { clock, day, duration, plural } from "../../ui/amounts";
import type { Shape } from "../../ui/Status";
import { MODELS } from "./text";

export interface Shown {
  shape: Shape;
  word: string;
}

export const LOCAL = "ollama";
const DEMO = "demo";

/** Those that can be asked first, then those that failed, then those without a key; the demo after real ones. */
export function inOrder(vendors: readonly Vendor[]): Vendor[] {
  const place = (one: Vendor) => (failed(one) ? 2 : one.vendor === DEMO ? 1 : one.ready ? 0 : 3);
  return [...vendors].sort((one, other) => place(one) - place(other));
}

function failed(vendor: Vendor): boolean {
  return vendor.tried !== null && vendor.tried.ms === null;
}

/** The model that is asked for a word: the chosen one, the one that was tried last, one that is here, else the usual
 * one. */
export function modelOf(vendor: Vendor, chosen: string | null): string | null {
  const [name = ""] = chosen?.split(":") ?? [];
  if (name === vendor.vendor) return chosen;
  if (vendor.vendor === DEMO) return DEMO;
  if (vendor.tried) return vendor.tried.model;
  const model = vendor.models[0] ?? vendor.usual;
  return model ? `${vendor.vendor}:${model}` : null;
}

export function needsKey(vendor: Vendor): boolean {
  return vendor.keys.length > 0 && vendor.key === null && !vendor.ready && vendor.vendor !== LOCAL;
}

/** It can be asked without one, as at an address of one's own, but takes one. */
export function couldHaveKey(vendor: Vendor): boolean {
  return vendor.keys.length > 0 && vendor.key === null && vendor.ready && vendor.vendor !== LOCAL;
}

export function stateOf(vendor: Vendor, asking: boolean): Shown {
  if (asking) return { shape: "work", word: vendor.ready ? MODELS.asking : MODELS.looking };
  if (needsKey(vendor)) return { shape: "off", word: MODELS.notSet };
  if (vendor.tried) return triedState(vendor.tried);
  if (vendor.vendor === DEMO || (vendor.vendor === LOCAL && vendor.ready)) return { shape: "ok", word: MODELS.works };
  return vendor.ready ? { shape: "wait", word: MODELS.notTested } : { shape: "off", word: MODELS.notRunning };
}

function triedState(tried: VendorTrial): Shown {
  if (tried.ms !== null) return { shape: "ok", word: MODELS.works };
  return { shape: "fail", word: tried.refused ? MODELS.refused : MODELS.failed };
}

export function about(vendor: Vendor): string {
  const { tried } = vendor;
  if (needsKey(vendor)) return MODELS.noKey;
  if (tried?.refused) return MODELS.keyRefused(on(tried.at));
  if (tried?.ms === null) return tried.reason;
  const parts = [source(vendor)];
  if (vendor.models.length) parts.push(MODELS.installed(plural(vendor.models.length, "model")));
  if (tried) parts.push(MODELS.tested(clock(tried.at), duration(tried.ms ?? 0)));
  return parts.filter(Boolean).join(" · ");
}

function source(vendor: Vendor): string {
  if (vendor.protocol) return [vendor.address, vendor.key ? MODELS.key(vendor.key) : MODELS.noKeyNeeded].join(" · ");
  if (vendor.key) return `${vendor.key} from the ${vendor.place === "environment" ? "environment" : "secrets"}`;
  if (vendor.vendor === DEMO) return MODELS.demo;
  return vendor.address.replace(/^https?:\/\/|\/v1$/g, "");
}

/** at 09:45, yesterday, on Wed, on 2 Oct. */
function on(when: string): string {
  const shown = day(when);
  if (shown === "yesterday") return shown;
  return shown === clock(when) ? `at ${shown}` : `on ${shown}`;
}
