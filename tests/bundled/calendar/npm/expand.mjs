// Reads a JSON list of calendar objects, and prints start and end of their occurrences until 2028-06, by ical.js.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const ICAL = createRequire(`${process.argv[2]}/`)("ical.js");
const { default: api } = ICAL.default ? ICAL : { default: ICAL };
const end = api.Time.fromDateTimeString("2028-06-01T00:00:00");

function expand(data) {
  const events = new api.Component(api.parse(data)).getAllSubcomponents("vevent").map((each) => new api.Event(each));
  const master = events.find((each) => !each.isRecurrenceException());
  events.filter((each) => each !== master).forEach((each) => master.relateException(each));
  const found = [];
  const iterator = master.iterator();
  for (let next = iterator.next(); next && next.compare(end) < 0; next = iterator.next()) {
    const { startDate, endDate } = master.getOccurrenceDetails(next);
    found.push([startDate.toString(), endDate.toString()]);
  }
  return found;
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(expand)));
