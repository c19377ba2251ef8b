// Boxes that are wider than the page take part in the order of the keyboard, as long as they have more than they show.

function watchBoxes(boxes) {
  const mark = (box) => {
    const name = box.querySelector("caption")?.textContent ?? "table";
    const changes = { tabindex: "0", role: "group", "aria-label": `${name}, scrolls sideways` };
    for (const [attribute, value] of Object.entries(changes)) {
      if (box.scrollWidth > box.clientWidth) box.setAttribute(attribute, value);
      else box.removeAttribute(attribute);
    }
  };
  const observer = new ResizeObserver(() => boxes.forEach(mark)); // also those that are folded, which have no size
  for (const box of boxes) observer.observe(box);
}

watchBoxes([...document.querySelectorAll(".wide")]);
