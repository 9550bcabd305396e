import "@angular/compiler";
import { Component, inject, provideZonelessChangeDetection } from "@angular/core";
import { FormsModule } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import Aura from "@primeuix/themes/aura";
import { ConfirmationService, MessageService } from "primeng/api";
import { AccordionModule } from "primeng/accordion";
import { AutoCompleteModule } from "primeng/autocomplete";
import { ButtonModule } from "primeng/button";
import { CheckboxModule } from "primeng/checkbox";
import { providePrimeNG } from "primeng/config";
import { ConfirmDialogModule } from "primeng/confirmdialog";
import { DatePickerModule } from "primeng/datepicker";
import { DialogModule } from "primeng/dialog";
import { InputNumberModule } from "primeng/inputnumber";
import { InputTextModule } from "primeng/inputtext";
import { ListboxModule } from "primeng/listbox";
import { MenubarModule } from "primeng/menubar";
import { MultiSelectModule } from "primeng/multiselect";
import { RadioButtonModule } from "primeng/radiobutton";
import { RatingModule } from "primeng/rating";
import { SelectModule } from "primeng/select";
import { SelectButtonModule } from "primeng/selectbutton";
import { SliderModule } from "primeng/slider";
import { TableModule } from "primeng/table";
import { TabsModule } from "primeng/tabs";
import { ToastModule } from "primeng/toast";
import { ToggleSwitchModule } from "primeng/toggleswitch";
import { TreeModule } from "primeng/tree";

const tell = (window as any).tell;

@Component({
  selector: "app-root",
  imports: [FormsModule, AccordionModule, AutoCompleteModule, ButtonModule, CheckboxModule, ConfirmDialogModule, DatePickerModule, DialogModule, InputNumberModule, InputTextModule, ListboxModule, MenubarModule, MultiSelectModule, RadioButtonModule, RatingModule, SelectModule, SelectButtonModule, SliderModule, TableModule, TabsModule, ToastModule, ToggleSwitchModule, TreeModule],
  providers: [ConfirmationService, MessageService],
  template: `<h1>PrimeNG</h1>
    <p-select [options]="cities" [(ngModel)]="city" placeholder="Select a City" ariaLabel="City" (onChange)="tell('city', $event.value)" />
    <p-multiselect [options]="cities" [(ngModel)]="many" display="chip" placeholder="Select Cities" ariaLabel="Cities" (onChange)="tell('many', $event.value)" />
    <p-autocomplete [(ngModel)]="country" [suggestions]="found" (completeMethod)="search($event)" placeholder="Country" (onSelect)="tell('country', $event.value)" />
    <p-datepicker [(ngModel)]="day" [showIcon]="true" inputId="day" (onSelect)="tell('day', $event.getDate())" /><label for="day">Day</label>
    <label for="n">Amount</label><p-inputnumber [(ngModel)]="number" inputId="n" [showButtons]="true" (onInput)="tell('number', $event.value)" />
    <p-checkbox [(ngModel)]="agree" [binary]="true" inputId="agree" (onChange)="tell('agree', $event.checked)" /><label for="agree">Agree</label>
    <p-toggleswitch [(ngModel)]="on" ariaLabel="Wi-Fi" (onChange)="tell('on', $event.checked)" />
    <p-radiobutton name="pizza" value="Cheese" [(ngModel)]="pizza" inputId="p1" (onClick)="tell('pizza', 'Cheese')" /><label for="p1">Cheese</label><p-radiobutton name="pizza" value="Mushroom" [(ngModel)]="pizza" inputId="p2" (onClick)="tell('pizza', 'Mushroom')" /><label for="p2">Mushroom</label>
    <p-rating [(ngModel)]="stars" (onRate)="tell('stars', $event.value)" />
    <div style="width: 200px; margin: 16px"><p-slider [(ngModel)]="amount" ariaLabel="Price" (onChange)="tell('amount', $event.value)" /></div>
    <p-selectbutton [options]="['Off', 'On']" [(ngModel)]="payment" (onChange)="tell('payment', $event.value)" />
    <p-listbox [options]="cities" [(ngModel)]="listed" (onChange)="tell('listed', $event.value)" />
    <p-menubar [model]="menu" />
    <p-button label="Show" (onClick)="open = true" /><p-dialog header="Edit Profile" [modal]="true" [(visible)]="open"><label for="user">Username</label><input pInputText id="user" (input)="tell('user', $any($event.target).value)" /><p-button label="Save" (onClick)="save()" /></p-dialog>
    <p-button label="Toast" (onClick)="notify()" /><p-toast /><p-button label="Confirm" (onClick)="ask()" /><p-confirmdialog />
    <p-tabs value="0" (valueChange)="tell('tab', $event)"><p-tablist><p-tab value="0">Header I</p-tab><p-tab value="1">Header II</p-tab></p-tablist><p-tabpanels><p-tabpanel value="0">First text</p-tabpanel><p-tabpanel value="1">Second text</p-tabpanel></p-tabpanels></p-tabs>
    <p-accordion (valueChange)="tell('accordion', $event)"><p-accordion-panel value="0"><p-accordion-header>Section I</p-accordion-header><p-accordion-content>Section text</p-accordion-content></p-accordion-panel></p-accordion>
    <p-table [value]="rows" dataKey="code" [paginator]="true" [rows]="2" selectionMode="multiple" [metaKeySelection]="false" [(selection)]="chosen" (selectionChange)="tell('rows', codes($event))" (onSort)="tell('sorted', $event.field)" (onPage)="tell('page', $event.first)"><ng-template #header><tr><th pSortableColumn="name">Name <p-sortIcon field="name" /></th><th pSortableColumn="price">Price <p-sortIcon field="price" /></th></tr></ng-template><ng-template #body let-row><tr [pSelectableRow]="row"><td>{{ row.name }}</td><td>{{ row.price }}</td></tr></ng-template></p-table>
    <p-tree [value]="nodes" selectionMode="single" (onNodeSelect)="tell('node', $event.node.key)" />`,
})
class App {
  tell = tell;
  cities = ["Rome", "Paris", "London"];
  city = "Rome";
  many = ["Paris"];
  country = "";
  found: string[] = [];
  day = new Date(2026, 3, 17);
  number = 40;
  agree = false;
  on = false;
  pizza = "";
  stars = 1;
  amount = 30;
  payment = "Off";
  listed = null;
  open = false;
  rows = [{ code: "f230", name: "Bamboo Watch", price: 65 }, { code: "nvk", name: "Black Watch", price: 72 }, { code: "zz2", name: "Blue Band", price: 79 }];
  chosen = [];
  nodes = [{ key: "0", label: "Documents", children: [{ key: "0-0", label: "Work" }] }];
  menu = [{ label: "File", items: [{ label: "New", items: [{ label: "Bookmark", command: () => tell("bar", "bookmark") }] }] }, { label: "Quit", command: () => tell("bar", "quit") }];
  confirmation = inject(ConfirmationService);
  messages = inject(MessageService);
  codes = (rows: any[]) => rows.map((row) => row.code);
  search(event: any) { this.found = ["Germany", "Ghana", "Greece"].filter((each) => each.toLowerCase().startsWith(event.query.toLowerCase())); }
  save() { this.open = false; tell("saved", true); }
  notify() { this.messages.add({ severity: "info", summary: "Info", detail: "Message Content", sticky: true }); }
  ask() { this.confirmation.confirm({ message: "Are you sure you want to proceed?", header: "Confirmation", accept: () => tell("confirmed", true) }); }
}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), providePrimeNG({ theme: { preset: Aura } })] });
