// Choices from which a cron expression or a recurrence rule is built.

const DAYS = {MO: "Monday", TU: "Tuesday", WE: "Wednesday", TH: "Thursday", FR: "Friday", SA: "Saturday", SU: "Sunday"};
// A step of a cron field starts anew with each hour or day, so that only a divisor of it repeats evenly.
const STEPS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30];
const CRON_DAYS = {MO: "MON", TU: "TUE", WE: "WED", TH: "THU", FR: "FRI", SA: "SAT", SU: "SUN"};

const builder = {
  box: $("builder"),

  value: name => $(`by-${name}`).value.trim(),

  days: () => [...$("by-days").querySelectorAll(":checked")].map(({value}) => value),

  // The hour, the minute and the second that were chosen.
  time() {
    const [hour = 9, minute = 0, second = 0] = this.value("time").split(":").filter(Boolean).map(Number);
    return {hour, minute, second};
  },

  // The choices as a recurrence rule.
  rule() {
    const [unit, which] = [this.value("unit"), this.value("which")];
    const interval = Number(this.value("interval")) || 1;
    const days = this.days();
    const {hour, minute, second} = this.time();
    const parts = {FREQ: {day: "DAILY", week: "WEEKLY", month: "MONTHLY", year: "YEARLY"}[unit]};
    if (interval > 1) parts.INTERVAL = interval;
    if (unit === "year") parts.BYMONTH = this.value("month");
    if (unit === "week" && days.length) parts.BYDAY = days;
    if (unit === "month" || unit === "year") {
      if (which === "day") parts.BYMONTHDAY = this.value("day");
      else parts.BYDAY = (days.length ? days : ["MO"]).map(name => which + name);
    }
    Object.assign(parts, {BYHOUR: hour, BYMINUTE: minute, BYSECOND: second});
    const end = this.value("end");
    if (end === "COUNT") parts.COUNT = this.value("count") || 1;
    if (end === "UNTIL" && this.value("until")) parts.UNTIL = this.value("until").replaceAll("-", "");
    return Object.entries(parts).map(([name, value]) => `${name}=${value}`).join(";");
  },

  // The choices as a cron expression.
  cron() {
    const [unit, which] = [this.value("unit"), this.value("which")];
    const {hour, minute, second} = this.time();
    const step = this.value("step") === "1" ? "*" : `*/${this.value("step")}`;
    if (unit === "minute") return `${step} * * * *`;
    if (unit === "hour") return `${minute} ${step} * * *`;
    const days = (this.days().length ? this.days() : ["MO"]).map(name => CRON_DAYS[name]);
    const mark = which === "-1" ? "L" : which ? `#${which}` : "";
    const isByDay = unit === "week" || which !== "day";
    let fields = ["*", "*", "*"];
    if (unit === "week") fields = ["*", "*", days];
    if (unit === "month" || unit === "year") {
      const month = unit === "year" ? this.value("month") : "*";
      fields = isByDay ? ["*", month, days.map(name => name + mark)] : [this.value("day") || 1, month, "*"];
    }
    return [...(second ? [second] : []), minute, hour, ...fields].join(" ");
  },

  // Shows the choices that count, and writes what they make into the field.
  build() {
    const isCron = form.kind.value === "cron";
    const field = isCron ? form.cron : form.rrule;
    this.show(isCron);
    field.value = isCron ? this.cron() : this.rule();
    form.oninput();
  },

  show(isCron = form.kind.value === "cron") {
    for (const option of $("by-unit").options) {
      option.hidden = option.disabled = !isCron && (option.value === "minute" || option.value === "hour");
    }
    if ($("by-unit").selectedOptions[0]?.disabled) $("by-unit").value = "day";
    const unit = this.value("unit");
    for (const option of $("by-step").options) {
      option.hidden = option.disabled = (unit === "hour" ? 24 : 60) % option.value !== 0;
    }
    if ($("by-step").selectedOptions[0]?.disabled) $("by-step").value = 1;
    const isLong = unit === "month" || unit === "year";
    const isShort = unit === "minute" || unit === "hour";
    const which = this.value("which");
    const shown = {
      interval: !isCron, step: isCron && isShort, month: unit === "year", which: isLong, day: isLong && which === "day",
      time: unit !== "minute", end: !isCron, count: !isCron && this.value("end") === "COUNT",
      until: !isCron && this.value("end") === "UNTIL",
    };
    for (const [name, isShown] of Object.entries(shown)) $(`by-${name}-box`).hidden = !isShown;
    $("by-days").hidden = !(unit === "week" || (isLong && which !== "day"));
  },
};

for (let month = 0; month < 12; month += 1) {
  const name = new Date(2000, month, 1).toLocaleString(undefined, {month: "long"});
  $("by-month").append(make("option", {value: month + 1}, name));
}
for (const value of STEPS) $("by-step").append(make("option", {value}, value));
for (const [value, name] of Object.entries(DAYS)) {
  const box = make("input", {type: "checkbox", value, checked: value === "MO"});
  $("by-days").append(make("label", {className: "check"}, box, name));
}
for (const type of ["input", "change"]) {
  builder.box.addEventListener(type, event => {
    event.stopPropagation();
    builder.build();
  });
}
builder.box.addEventListener("toggle", () => builder.show());
