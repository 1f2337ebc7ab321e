// The search: sections and entries of the menu that don't have every word are hidden, and `/` leads to the field.
"use strict";
const field = document.getElementById("search");
const found = document.getElementById("found");
const sections = [...document.querySelectorAll("main section")].map(element => ({
  element,
  text: `${element.id} ${element.textContent}`.toLowerCase(),
  title: element.querySelector("h3").textContent.toLowerCase(),
  link: document.querySelector(`nav li a[href="#${element.id}"]`).parentElement,
}));

const search = () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(word => word !== "");
  let count = 0;
  for (const section of sections) {
    const fits = words.every(word => section.text.includes(word));
    section.element.hidden = !fits;
    section.link.hidden = !fits;
    count += fits ? 1 : 0;
  }
  for (const group of document.querySelectorAll("nav details")) {
    group.hidden = group.querySelector("li:not([hidden])") === null;
  }
  found.hidden = words.length === 0;
  found.textContent = count === 0 ? "Nothing found" : `${count} found`;
};

// Enter leads to the section whose title has all the words, else to the first that is left.
const go = () => {
  const words = field.value.toLowerCase().split(/\s+/);
  const left = sections.filter(section => !section.element.hidden);
  const best = left.find(section => words.every(word => section.title.includes(word))) ?? left[0];
  if (best !== undefined) location.hash = best.element.id;
};

// A link to what the search hides ends the search.
const show = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.closest("section[hidden]") == null) return;
  field.value = "";
  search();
  target.scrollIntoView();
};

field.hidden = false;
field.addEventListener("input", search);
field.addEventListener("keydown", event => {
  if (event.key === "Enter") go();
});
addEventListener("hashchange", show);
addEventListener("keydown", event => {
  if (event.key !== "/" || event.target === field || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});
